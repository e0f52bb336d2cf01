SELECT count(*) AS used FROM export_metrics WHERE run_id = :run_id
