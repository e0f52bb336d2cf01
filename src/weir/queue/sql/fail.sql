-- $1..$7: ids, leases, the workers' sessions, milliseconds since each was handed over, what went
-- wrong, whether to try again if attempts are left, a number from 0 to 1 each for the jitter.
-- Back-off: backoff_ms * 2^(attempts - 1), a day at most, of which a random part of the upper half.
WITH ended AS (
  SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::integer[], $5::text[],
                       $6::boolean[], $7::double precision[])
    AS ended (id, lease, session_id, ran_ms, error, retry, chance)
), held AS (
  SELECT job.id, job.lease, job.run_at, job.tag_id, job.tenant_id, job.crashes, job.cancelled_at,
         CASE job.state WHEN 'buffered' THEN ended.session_id ELSE job.session_id END AS session_id,
         job.attempt + (job.state = 'buffered')::integer AS attempt,
         coalesce(job.started_at, now() - ended.ran_ms * interval '1 millisecond') AS started_at,
         ended.error, ended.chance,
         ended.retry AND job.cancelled_at IS NULL
           AND job.attempt + (job.state = 'buffered')::integer < spec.max_attempts AS again,
         spec.backoff_ms
  FROM ended
  JOIN weir_queue.job USING (id)
  JOIN weir_queue.job_spec AS spec USING (id)
  WHERE job.lease = ended.lease AND job.state IN ('buffered', 'running')
  FOR UPDATE OF job
), delayed AS (
  UPDATE weir_queue.job
  SET state = 'scheduled', lease = NULL, session_id = NULL, started_at = NULL,
      attempt = held.attempt,
      run_at = now() + (0.5 + held.chance / 2) * interval '1 millisecond'
        * least(86400000, held.backoff_ms * 2.0 ^ least(held.attempt - 1, 40))
  FROM held WHERE job.id = held.id AND held.again
), evidence AS (
  INSERT INTO weir_queue.attempt (id, attempt, session_id, started_at, how, error)
  SELECT id, attempt, session_id, started_at, 'failed', error FROM held WHERE again
), gone AS (
  DELETE FROM weir_queue.job USING held WHERE job.id = held.id AND NOT held.again
), finished AS (
  INSERT INTO weir_queue.finished
    (id, lease, session_id, run_at, started_at, tag_id, tenant_id, state, attempt, crashes, error)
  SELECT id, lease, session_id, run_at, started_at, tag_id, tenant_id,
         CASE WHEN cancelled_at IS NULL THEN 'failed' ELSE 'cancelled' END::weir_queue.final_state,
         attempt, crashes, error
  FROM held WHERE NOT again
)
SELECT id,
       CASE WHEN again THEN 'scheduled' WHEN cancelled_at IS NULL THEN 'failed' ELSE 'cancelled' END
FROM held
