-- $1..$7: ids, leases, the workers' sessions, milliseconds since each was handed over, results,
-- peak bytes, CPU µs.
-- What another lease holds by now is not among those returned. One that was handed over and done
-- before that was written down goes from buffered to done, its attempt charged here.
WITH ended AS (
  SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::integer[], $5::text[],
                       $6::bigint[], $7::bigint[])
    AS ended (id, lease, worker_id, ran_ms, result, peak_bytes, cpu_micros)
), gone AS (
  DELETE FROM weir_queue.job USING ended
  WHERE job.id = ended.id AND job.lease = ended.lease AND job.state IN ('buffered', 'running')
  RETURNING job.*, ended.worker_id, ended.ran_ms, ended.result, ended.peak_bytes, ended.cpu_micros
)
INSERT INTO weir_queue.finished
  (id, lease, session_id, run_at, started_at, tag_id, tenant_id, state, attempt, crashes, result,
   peak_bytes, cpu_micros)
SELECT id, lease, CASE state WHEN 'buffered' THEN worker_id ELSE session_id END, run_at,
       coalesce(started_at, now() - ran_ms * interval '1 millisecond'), tag_id, tenant_id, 'done',
       attempt + (state = 'buffered')::integer, crashes, result::jsonb, peak_bytes, cpu_micros
FROM gone
RETURNING id
