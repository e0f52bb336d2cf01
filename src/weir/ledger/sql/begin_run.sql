INSERT INTO export_metrics (
  run_id, run_group_id, export_name, run_at, status, tuning_profile, format, mode,
  batch_size, batch_size_memory_mb, chunk_size, parallel, chunk_key,
  source_type, destination_type, weir_version)
VALUES (
  :run_id, :run_group_id, :export_name, :now, 'running', :tuning_profile, :format, :mode,
  :batch_size, :batch_size_memory_mb, :chunk_size, :parallel, :chunk_key,
  :source_type, :destination_type, :weir_version)
