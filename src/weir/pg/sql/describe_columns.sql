SELECT a.attname, a.attnum, a.atttypid, t.typtype,
       CASE WHEN t.typcategory = 'A' AND t.typelem <> 0 AND e.typarray = t.oid THEN t.typelem
            ELSE 0 END,
       coalesce(e.typtype, 'b'), a.atttypmod, pg_catalog.format_type(a.atttypid, a.atttypmod),
       a.attnotnull AND (c.relkind = 'p' OR (c.relkind = 'r' AND NOT c.relhassubclass)),
       pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem
WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
