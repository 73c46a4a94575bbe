-- Clears fields in the rows that are loaded, in each column that a table has for them.
-- A second time, it changes nothing. The bytes can stay on disk until VACUUM FULL.
CREATE OR REPLACE FUNCTION pg_temp.without(value jsonb, path text[]) RETURNS jsonb
LANGUAGE plpgsql AS $$
BEGIN
  IF jsonb_typeof(value) = 'array' THEN
    RETURN coalesce((SELECT jsonb_agg(pg_temp.without(item, path)) FROM jsonb_array_elements(value) AS items (item)), value);
  ELSIF jsonb_typeof(value) <> 'object' OR NOT value ? path[1] THEN
    RETURN value;
  ELSIF cardinality(path) = 1 THEN
    RETURN value - path[1];
  END IF;
  RETURN jsonb_set(value, path[1:1], pg_temp.without(value -> path[1], path[2:]));
END $$;

DO $$
DECLARE
  found record;
BEGIN
  FOR found IN
    SELECT format('%I.%I', table_schema, table_name) AS rows,
      quote_ident(column_name) AS name,
      CASE WHEN column_name <> path[1] THEN path
        WHEN cardinality(path) > 1 THEN path[2:] END AS inside
    FROM information_schema.columns
    JOIN (VALUES
      @fields@
    ) AS fields (stream, path) ON table_name = stream
      AND column_name IN (path[1], 'additional_properties')
    WHERE table_schema = @schema@
      AND (data_type = 'jsonb' OR cardinality(path) = 1)
  LOOP
    IF found.inside IS NULL THEN
      EXECUTE format('UPDATE %s SET %s = NULL WHERE %2$s IS NOT NULL', found.rows, found.name);
    ELSE
      EXECUTE format('UPDATE %s SET %s = pg_temp.without(%2$s, $1) WHERE %2$s <> pg_temp.without(%2$s, $1)', found.rows, found.name) USING found.inside;
    END IF;
  END LOOP;
END $$;
