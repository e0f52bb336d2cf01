SELECT id, run_id, export_name, run_at FROM export_metrics
WHERE status = 'running' AND (:export_name IS NULL OR export_name = :export_name)
ORDER BY id
