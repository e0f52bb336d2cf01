SELECT weir_queue.enqueue(
  kind => $1, args => $2::jsonb, tag => $3, tenant => $4, priority => $5::integer,
  run_at => CASE WHEN $6::bigint > 0 THEN now() + $6::bigint * interval '1 millisecond' END,
  max_attempts => $7::integer, backoff_ms => $8::integer, timeout_ms => $9::integer,
  unique_key => $10)
