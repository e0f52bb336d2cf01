-- What has been done in the current database, and written by the server, since the counters began.
-- Functions only: a look at them reads no table and so adds no tuples. Order: kCounters.
SELECT pg_catalog.pg_stat_get_db_tuples_returned(datid),
       pg_catalog.pg_stat_get_db_tuples_fetched(datid),
       pg_catalog.pg_stat_get_db_blocks_fetched(datid)
           - pg_catalog.pg_stat_get_db_blocks_hit(datid),
       pg_catalog.pg_stat_get_db_blocks_hit(datid),
       pg_catalog.pg_stat_get_db_temp_files(datid),
       pg_catalog.pg_stat_get_db_temp_bytes(datid),
       pg_catalog.pg_stat_get_db_deadlocks(datid),
       CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL
            ELSE pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_insert_lsn(), '0/0')::bigint
       END,
       pg_catalog.current_setting('track_counts')
FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid())
