-- Where extension $1 keeps its functions; no row when this database does not have it.
SELECT nspname
FROM pg_catalog.pg_extension AS e
JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace
WHERE extname = $1
