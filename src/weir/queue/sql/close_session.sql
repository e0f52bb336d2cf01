-- $1: a session that leaves. What it holds is ready again, with no attempt charged; what was to be
-- cancelled is.
WITH ended AS (
  UPDATE weir_queue.session SET ended_at = now() WHERE id = $1::bigint AND ended_at IS NULL
  RETURNING id
), held AS (
  SELECT job.* FROM ended JOIN weir_queue.job ON job.session_id = ended.id FOR UPDATE OF job
), back AS (
  UPDATE weir_queue.job
  SET state = 'ready', lease = NULL, session_id = NULL, started_at = NULL,
      attempt = job.attempt - (job.state = 'running')::integer
  FROM held WHERE job.id = held.id AND held.cancelled_at IS NULL
), gone AS (
  DELETE FROM weir_queue.job USING held WHERE job.id = held.id AND held.cancelled_at IS NOT NULL
)
INSERT INTO weir_queue.finished
  (id, lease, session_id, run_at, started_at, tag_id, tenant_id, state, attempt, crashes)
SELECT id, lease, session_id, run_at, started_at, tag_id, tenant_id, 'cancelled', attempt, crashes
FROM held WHERE cancelled_at IS NOT NULL
