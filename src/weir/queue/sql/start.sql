-- $1..$4: ids, leases, the workers' sessions, milliseconds since each was handed over.
-- Buffered jobs run from here on; the attempt is charged. None does for a worker that has ended.
UPDATE weir_queue.job
SET state = 'running', session_id = handed.session_id, attempt = attempt + 1,
    started_at = now() - handed.ran_ms * interval '1 millisecond'
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::integer[])
  AS handed (id, lease, session_id, ran_ms)
WHERE job.id = handed.id AND job.lease = handed.lease AND job.state = 'buffered'
  AND EXISTS (SELECT FROM weir_queue.session
              WHERE session.id = handed.session_id AND session.ended_at IS NULL)
RETURNING job.id
