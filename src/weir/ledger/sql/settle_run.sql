UPDATE export_metrics SET
  status = 'interrupted', error_class = :error_class, error_message = :error_message
WHERE id = :id AND status = 'running'
