-- $1: how many at most. What is due gets in line.
WITH due AS MATERIALIZED (
  SELECT id FROM weir_queue.job WHERE state = 'scheduled' AND run_at <= now()
  ORDER BY run_at LIMIT $1::integer FOR UPDATE SKIP LOCKED
), moved AS (
  UPDATE weir_queue.job SET state = 'ready' FROM due
  WHERE job.id = due.id AND job.state = 'scheduled'
  RETURNING job.tag_id, job.rank, job.tenant_id, job.run_at
)
SELECT tag_id, rank, tenant_id, (extract(epoch FROM min(run_at)) * 1000000)::bigint
FROM moved GROUP BY tag_id, rank, tenant_id
