-- $1, $2: ids and leases that nobody works on. An attempt that had begun is not charged; what was
-- to be cancelled is.
WITH held AS (
  SELECT job.* FROM unnest($1::uuid[], $2::bigint[]) AS back (id, lease)
  JOIN weir_queue.job ON job.id = back.id
  WHERE job.lease = back.lease AND job.state IN ('buffered', 'running')
  FOR UPDATE OF job
), back AS (
  UPDATE weir_queue.job
  SET state = 'ready', lease = NULL, session_id = NULL, started_at = NULL,
      attempt = job.attempt - (job.state = 'running')::integer
  FROM held WHERE job.id = held.id AND held.cancelled_at IS NULL
), gone AS (
  DELETE FROM weir_queue.job USING held WHERE job.id = held.id AND held.cancelled_at IS NOT NULL
), finished AS (
  INSERT INTO weir_queue.finished
    (id, lease, session_id, run_at, started_at, tag_id, tenant_id, state, attempt, crashes)
  SELECT id, lease, session_id, run_at, started_at, tag_id, tenant_id, 'cancelled', attempt,
         crashes
  FROM held WHERE cancelled_at IS NOT NULL
)
SELECT id FROM held
