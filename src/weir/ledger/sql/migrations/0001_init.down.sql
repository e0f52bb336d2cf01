DROP TABLE export_files;
DROP TABLE export_harm;
DROP TABLE export_metrics;
PRAGMA application_id = 0;
