SELECT to_regnamespace('weir_queue') IS NOT NULL,
       to_regclass('weir_queue.schema_version') IS NOT NULL
