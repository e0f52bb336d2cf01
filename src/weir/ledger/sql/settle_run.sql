UPDATE export_metrics SET
  status = 'interrupted', error_class = 'process_died',
  error_message = 'the process that ran it ended without saying how; run the export again'
WHERE id = :id AND status = 'running'
