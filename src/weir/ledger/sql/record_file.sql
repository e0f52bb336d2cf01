INSERT INTO export_files (run_id, export_name, path, rows, bytes, xxh3, recorded_at)
SELECT run_id, export_name, :path, :rows, :bytes, :xxh3, :now
FROM export_metrics WHERE run_id = :run_id
ON CONFLICT (run_id, path) DO UPDATE SET
  rows = excluded.rows, bytes = excluded.bytes, xxh3 = excluded.xxh3,
  recorded_at = excluded.recorded_at
