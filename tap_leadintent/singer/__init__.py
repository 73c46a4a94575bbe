"""What lies between this tap and the SDK. What it does not support, it refuses.

It alone uses private parts of other packages, or relies on what they do not promise.
`tests/singer/test_sdk_hooks.py` refuses private names elsewhere or not listed here, and
fails when the SDK changes one of these:

* `Stream._sync_records`, with `_tap`, `_check_max_record_limit` and
  `_generate_record_messages`: a STATE must cover only what was written before it.
* `Stream._write_activate_version_message`, `_stream_version`: the SDK sends
  ACTIVATE_VERSION, which deletes the rows of earlier runs, before the new rows.
* `Stream.log`, `Stream.logger`: the SDK logs the start and the failure of each stream,
  and from version 0.55 on its logger replaces the fields of a line.
* `Tap._validate_config`, `_config`: the SDK does not validate settings for
  `--discover`, and quotes their values in errors.
* `Tap._setup_signal_handlers`: the SDK installs signal handlers in any program that
  uses it, and they exit with 0.
* `Tap.sync_all`, which is final: the SDK ends the run with the first stream that fails.
* `Tap.invoke`, `get_singer_command`: the SDK opens files, discovers and tests
  while options are parsed, where no error is handled, and reads environment variables
  without their types.
* The entries of `stream_maps` one by one, and `expr_evaluator.expr` of a map: a map
  does not say which fields it sets, nor which expression failed.
* `mallopt` of glibc, on the command line: with a heap for each thread, each reader
  would keep the most memory that it has needed.
* `MELTANO_CLI_LOG_FORMAT` and `MELTANO_CLI_LOG_CONFIG`: metrics are for programs, so
  Meltano's log as text has none.
* `Logger.manager.loggerDict`: all log handlers of the tap's own process hide the key.
* `LogRecord.pathname`, the level of the metrics' logger: the SDK's line about the
  tap's start is left out.
"""
