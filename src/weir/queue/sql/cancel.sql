-- $1: a job. One that runs is marked; any other that lives ends.
WITH found AS (
  SELECT * FROM weir_queue.job WHERE id = $1::uuid FOR UPDATE
), marked AS (
  UPDATE weir_queue.job SET cancelled_at = coalesce(job.cancelled_at, now())
  FROM found WHERE job.id = found.id AND found.state = 'running'
), gone AS (
  DELETE FROM weir_queue.job USING found WHERE job.id = found.id AND found.state <> 'running'
), finished AS (
  INSERT INTO weir_queue.finished
    (id, lease, session_id, run_at, tag_id, tenant_id, state, attempt, crashes)
  SELECT id, lease, session_id, run_at, tag_id, tenant_id, 'cancelled', attempt, crashes
  FROM found WHERE state <> 'running'
)
SELECT CASE WHEN state = 'running' THEN 'running' ELSE 'cancelled' END FROM found
