SELECT pg_catalog.pg_size_bytes(pg_catalog.current_setting('shared_buffers'))
       / pg_catalog.current_setting('block_size')::bigint
