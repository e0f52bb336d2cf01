SELECT * FROM export_files
WHERE (:export_name IS NULL OR export_name = :export_name)
  AND (:run_id IS NULL OR run_id = :run_id)
ORDER BY id DESC LIMIT :limit
