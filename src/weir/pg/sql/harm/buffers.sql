-- Shared buffers by relation, leaving out heap and TOAST of the table being read ($1; may be '').
-- harm_meter.cc puts in $SCHEMA.
SELECT reldatabase || '/' || reltablespace || '/' || relfilenode, pg_catalog.count(*)
FROM $SCHEMA.pg_buffercache
WHERE relfilenode <> ALL (ARRAY(
    SELECT pg_catalog.pg_relation_filenode(own)
    FROM pg_catalog.pg_class, LATERAL (VALUES (oid), (reltoastrelid)) AS owns (own)
    WHERE oid = pg_catalog.to_regclass(NULLIF($1, '')) AND own <> 0))
GROUP BY 1
