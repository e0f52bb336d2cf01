UPDATE export_metrics SET
  status = :status, error_message = :error_message, error_class = :error_class,
  skip_reason = :skip_reason, duration_ms = :duration_ms, total_rows = :total_rows,
  peak_rss_mb = :peak_rss_mb, files_produced = :files_produced, files_committed = :files_committed,
  bytes_written = :bytes_written, bytes_read = :bytes_read, retries = :retries,
  source_count = :source_count, pg_temp_bytes_delta = :pg_temp_bytes_delta,
  longest_chunk_ms = :longest_chunk_ms, validated = :validated, reconciled = :reconciled,
  quality_passed = :quality_passed, schema_changed = :schema_changed,
  schema_fingerprint = :schema_fingerprint, cursor_min = :cursor_min, cursor_max = :cursor_max,
  key_descriptor_json = :key_descriptor_json, offending_value = :offending_value,
  server_context_json = :server_context_json, batches = :batches, rows_per_batch = :rows_per_batch,
  slept_ms = :slept_ms, source_wait_ms = :source_wait_ms, decode_ms = :decode_ms,
  encode_ms = :encode_ms, write_ms = :write_ms
WHERE run_id = :run_id AND status = 'running'
