-- $1: workers' sessions. $2: all leases that they, or the server for them, know of. What they hold
-- is returned, with whether they know; what they do not know of is ready again uncharged, or
-- cancelled where that was asked for.
WITH held AS (
  SELECT job.* FROM unnest($1::bigint[]) AS worker (id)
  JOIN weir_queue.job ON job.session_id = worker.id
  WHERE job.state = 'running'
  FOR UPDATE OF job
), unknown AS (
  SELECT * FROM held WHERE lease <> ALL ($2::bigint[])
), back AS (
  UPDATE weir_queue.job
  SET state = 'ready', lease = NULL, session_id = NULL, started_at = NULL,
      attempt = job.attempt - 1
  FROM unknown WHERE job.id = unknown.id AND unknown.cancelled_at IS NULL
), gone AS (
  DELETE FROM weir_queue.job USING unknown
  WHERE job.id = unknown.id AND unknown.cancelled_at IS NOT NULL
), finished AS (
  INSERT INTO weir_queue.finished
    (id, lease, session_id, run_at, started_at, tag_id, tenant_id, state, attempt, crashes)
  SELECT id, lease, session_id, run_at, started_at, tag_id, tenant_id, 'cancelled', attempt,
         crashes
  FROM unknown WHERE cancelled_at IS NOT NULL
)
SELECT id, lease, tag_id, rank, tenant_id, (extract(epoch FROM run_at) * 1000000)::bigint,
       session_id, lease = ANY ($2::bigint[]), cancelled_at IS NOT NULL
FROM held
