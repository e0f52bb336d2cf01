SELECT n.nspname, c.relname
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE pg_catalog.lower(c.relname::text) = pg_catalog.lower($2)
  AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND CASE WHEN $1 = '' THEN n.nspname = ANY (pg_catalog.current_schemas(false))
           ELSE pg_catalog.lower(n.nspname::text) = pg_catalog.lower($1) END
ORDER BY n.nspname, c.relname
LIMIT 1
