SELECT t.typtype,
       CASE WHEN t.typcategory = 'A' AND t.typelem <> 0 AND e.typarray = t.oid THEN t.typelem
            ELSE 0 END,
       coalesce(e.typtype, 'b'), pg_catalog.format_type(t.oid, $2::int4)
FROM pg_catalog.pg_type t
LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem
WHERE t.oid = $1::oid
