-- $1: tags. $2, $3: rank and tenant that the caller served last. $4, $5: its lease and session,
-- which must not have ended.
-- The job at the front of the soonest rank of all tags, of the tenant after the last if there is
-- one, else of the first. One that others hold is passed over, then the tenant's line is.
WITH front AS MATERIALIZED (
  SELECT tag.id AS tag_id, first.rank
  FROM unnest($1::integer[]) AS tag (id) CROSS JOIN LATERAL (
    SELECT rank FROM weir_queue.job WHERE state = 'ready' AND tag_id = tag.id
    ORDER BY rank, tenant_id LIMIT 1) AS first
  WHERE EXISTS (SELECT FROM weir_queue.session WHERE id = $5::bigint AND ended_at IS NULL)
), line AS (
  SELECT front.tag_id, front.rank, candidate.tenant_id, candidate.turn
  FROM front CROSS JOIN LATERAL (
    (SELECT 0 AS turn, tenant_id FROM weir_queue.job
     WHERE state = 'ready' AND tag_id = front.tag_id AND rank = front.rank
       AND tenant_id > CASE WHEN front.rank = $2::smallint THEN $3::integer ELSE 0 END
     ORDER BY tenant_id LIMIT 1)
    UNION ALL
    (SELECT 1 AS turn, tenant_id FROM weir_queue.job
     WHERE state = 'ready' AND tag_id = front.tag_id AND rank = front.rank
     ORDER BY tenant_id LIMIT 1)) AS candidate
  WHERE front.rank = (SELECT min(rank) FROM front)
), picked AS MATERIALIZED (
  SELECT job.id FROM (SELECT * FROM line ORDER BY turn, tenant_id) AS line CROSS JOIN LATERAL (
    SELECT id FROM weir_queue.job
    WHERE state = 'ready' AND job.tag_id = line.tag_id AND job.rank = line.rank
      AND job.tenant_id = line.tenant_id
    ORDER BY run_at, id LIMIT 1
    FOR UPDATE SKIP LOCKED) AS job
  LIMIT 1
), taken AS (
  UPDATE weir_queue.job
  SET state = 'running', lease = $4::bigint, session_id = $5::bigint, started_at = now(),
      attempt = attempt + 1
  FROM picked WHERE job.id = picked.id AND job.state = 'ready'
  RETURNING job.id, job.lease, job.tag_id, job.rank, job.tenant_id, job.run_at, job.attempt,
            job.crashes
)
SELECT taken.id, lease, tag_id, rank, tenant_id,
       (extract(epoch FROM run_at) * 1000000)::bigint AS run_at, attempt, crashes, kind, args,
       timeout_ms
FROM taken JOIN weir_queue.job_spec AS spec USING (id)
