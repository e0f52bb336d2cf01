-- $1..$6: lines to draw from, in the order to serve them: tag, rank, tenant, the job after which to
-- look (µs since 1970, id), how many. $7: how many of all. $8: the lease before the first that is
-- drawn. $9: the server, which must not have ended.
WITH line AS (
  SELECT * FROM unnest($1::integer[], $2::smallint[], $3::integer[], $4::bigint[], $5::uuid[],
                       $6::integer[])
    AS line (tag_id, rank, tenant_id, after_micros, after_id, quota)
  WHERE EXISTS (SELECT FROM weir_queue.session WHERE id = $9::bigint AND ended_at IS NULL)
), picked AS MATERIALIZED (
  SELECT job.id, row_number() OVER () AS number
  FROM line CROSS JOIN LATERAL (
    SELECT id FROM weir_queue.job
    WHERE state = 'ready' AND job.tag_id = line.tag_id AND job.rank = line.rank
      AND job.tenant_id = line.tenant_id
      AND (job.run_at, job.id) >
          (timestamptz 'epoch' + line.after_micros * interval '1 microsecond', line.after_id)
    ORDER BY run_at, id LIMIT line.quota
    FOR UPDATE SKIP LOCKED) AS job
  LIMIT $7::integer
), claimed AS (
  UPDATE weir_queue.job SET state = 'buffered', lease = $8::bigint + picked.number,
                            session_id = $9::bigint
  FROM picked WHERE job.id = picked.id AND job.state = 'ready'
  RETURNING job.id, job.lease, job.tag_id, job.rank, job.tenant_id, job.run_at, job.attempt,
            job.crashes
)
SELECT claimed.id, lease, tag_id, rank, tenant_id,
       (extract(epoch FROM run_at) * 1000000)::bigint AS run_at, attempt, crashes, kind, args,
       timeout_ms
FROM claimed JOIN weir_queue.job_spec AS spec USING (id)
ORDER BY claimed.lease
