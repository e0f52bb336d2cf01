INSERT INTO export_harm (run_id, export_name, metric, delta, recorded_at)
SELECT run_id, export_name, :metric, :delta, :now
FROM export_metrics WHERE run_id = :run_id
ON CONFLICT (run_id, metric) DO UPDATE SET
  delta = excluded.delta, recorded_at = excluded.recorded_at
