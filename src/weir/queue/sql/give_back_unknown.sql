-- $1: a session. $2: the last lease that it drew when an answer got lost. $3: the leases that it
-- knows of. What it holds without knowing is ready again.
WITH back AS (
  UPDATE weir_queue.job SET state = 'ready', lease = NULL, session_id = NULL
  WHERE session_id = $1::bigint AND state = 'buffered' AND lease <= $2::bigint
    AND lease <> ALL ($3::bigint[])
  RETURNING tag_id, rank, tenant_id, run_at
)
SELECT tag_id, rank, tenant_id, (extract(epoch FROM min(run_at)) * 1000000)::bigint
FROM back GROUP BY tag_id, rank, tenant_id
