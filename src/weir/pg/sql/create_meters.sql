-- The extensions that HarmMeter reads, those that this server comes with.
DO $$
DECLARE
    extension name;
BEGIN
    FOR extension IN
        SELECT available.name
        FROM pg_catalog.pg_available_extensions AS available
        WHERE available.name IN ('pg_buffercache', 'pg_stat_statements')
    LOOP
        EXECUTE pg_catalog.format('CREATE EXTENSION IF NOT EXISTS %I', extension);
    END LOOP;
END
$$
