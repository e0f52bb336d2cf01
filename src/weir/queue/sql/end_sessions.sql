-- $1: crashes that make a job dead. Ends the sessions whose lease ran out and takes their jobs
-- back: buffered ones as if nothing had been, running ones with the crash counted. So too what
-- sessions hold that ended in the last minute: a claim may have been under way then.
WITH over AS (
  UPDATE weir_queue.session SET ended_at = now()
  WHERE ended_at IS NULL AND lease_until < now()
  RETURNING id, name
), ended AS (
  SELECT id, name FROM over
  UNION ALL
  SELECT id, name FROM weir_queue.session WHERE ended_at > now() - interval '1 minute'
), held AS (
  SELECT job.*, ended.name AS session_name,
         job.state = 'running' AND job.crashes + 1 >= $1::integer AS poison
  FROM ended JOIN weir_queue.job ON job.session_id = ended.id
  FOR UPDATE OF job
), evidence AS (
  INSERT INTO weir_queue.attempt (id, attempt, session_id, started_at, how, error)
  SELECT id, attempt, session_id, started_at, 'lease ran out',
         format('worker %s was not heard of any more', session_name)
  FROM held WHERE state = 'running'
), back AS (
  UPDATE weir_queue.job
  SET state = 'ready', lease = NULL, session_id = NULL, started_at = NULL,
      crashes = job.crashes + (job.state = 'running')::integer
  FROM held WHERE job.id = held.id AND NOT held.poison AND held.cancelled_at IS NULL
), gone AS (
  DELETE FROM weir_queue.job USING held
  WHERE job.id = held.id AND (held.poison OR held.cancelled_at IS NOT NULL)
), finished AS (
  INSERT INTO weir_queue.finished
    (id, lease, session_id, run_at, started_at, tag_id, tenant_id, state, attempt, crashes, error)
  SELECT id, lease, session_id, run_at, started_at, tag_id, tenant_id,
         CASE WHEN poison THEN 'dead' ELSE 'cancelled' END::weir_queue.final_state,
         attempt, crashes + 1,
         CASE WHEN poison THEN format('took its worker down %s times', crashes + 1) END
  FROM held WHERE poison OR cancelled_at IS NOT NULL
)
SELECT id, tag_id, rank, tenant_id, (extract(epoch FROM run_at) * 1000000)::bigint, state::text,
       CASE WHEN poison THEN 'dead' WHEN cancelled_at IS NOT NULL THEN 'cancelled' ELSE 'ready' END
FROM held
