SELECT pg_catalog.pg_relation_size(c.oid), pg_catalog.pg_table_size(c.oid), c.reltuples::int8
FROM pg_catalog.pg_class c
WHERE c.oid = $1::oid
