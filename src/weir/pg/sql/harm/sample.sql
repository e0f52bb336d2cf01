-- This run's sessions ($1 begins their application_name) and the standbys, now. Functions only.
SELECT pg_catalog.count(*),
       pg_catalog.max(pg_catalog.age(backend_xmin)) FILTER (
           WHERE pid <> pg_catalog.pg_backend_pid()),
       (SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_get_wal_senders()),
       (SELECT pg_catalog.max(pg_catalog.pg_wal_lsn_diff(
                   CASE WHEN pg_catalog.pg_is_in_recovery()
                        THEN pg_catalog.pg_last_wal_receive_lsn()
                        ELSE pg_catalog.pg_current_wal_lsn() END, replay_lsn))::bigint
        FROM pg_catalog.pg_stat_get_wal_senders())
FROM pg_catalog.pg_stat_get_activity(NULL)
WHERE pg_catalog.starts_with(application_name, $1)
