-- Statements of this user in this database. harm_meter.cc puts in $SCHEMA, and $TIME: total_time
-- before 13, total_exec_time since. `false` leaves the file of query texts unread.
SELECT COALESCE(pg_catalog.sum(s.calls), 0)::bigint, COALESCE(pg_catalog.sum(s.$TIME), 0)::bigint
FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) AS me
JOIN $SCHEMA.pg_stat_statements(false) AS s ON s.dbid = me.datid AND s.userid = me.usesysid
