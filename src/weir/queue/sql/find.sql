-- $1: a job, wherever it is.
SELECT state::text, attempt, crashes, coalesce(session_id, 0), NULL::text AS result,
       NULL::text AS error
FROM weir_queue.job WHERE id = $1::uuid
UNION ALL
SELECT state::text, attempt, crashes, coalesce(session_id, 0), result::text, error
FROM weir_queue.finished WHERE id = $1::uuid
