"""What is said where it takes more than a command line to bring it about."""

from __future__ import annotations

from tests.support.messages.kinds import REPORT, gave_up, warning
from tests.support.messages.message import Message

_PROXY = {"base_url": "https://api.example.com"}

CONNECTIONS = (
    gave_up(
        "HTTPS_PROXY or ALL_PROXY is not the address of a proxy; set it to one such as http://proxy.example.com:8080",
        config=_PROXY,
        environment={"HTTPS_PROXY": "http://", "NO_PROXY": ""},
        cause="A variable of the environment is not an address, or that of a SOCKS proxy.",
        cure="Correct it, or unset it; for SOCKS, `pip install 'requests[socks]'` beside the tap.",
        seen_by="test_an_address_of_no_proxy",
    ),
    gave_up(
        "the server's certificate is not trusted (…); check base_url, or set REQUESTS_CA_BUNDLE if the certificate is your own",
        cause="The server proves itself with a certificate that this machine does not know: of a company's proxy, self-signed, expired, or for another host.",
        cure="Set `REQUESTS_CA_BUNDLE` to a PEM file with the issuer's certificate; renew one that has expired.",
        seen_by="test_an_unknown_certificate_is_not_trusted",
    ),
    Message(
        text="1 of … streams failed: leads: REQUESTS_CA_BUNDLE names no readable file of certificates, … (…); set it to a file in PEM format",
        cause="The variable names a file that is not there, is not readable, or holds no certificate.",
        cure="Correct the path, or unset the variable.",
        seen_by="test_certificates_that_are_not_there_end_the_stream_at_once",
    ),
    gave_up(
        "… cannot be reached (…); check base_url, and this machine's network",
        cause="The host cannot be reached: the network is down, or a route is missing.",
        cure="Mend the network, or correct `base_url`.",
        seen_by="test_a_network_that_is_down",
    ),
    gave_up(
        "… accepted no connection within … s; check base_url, this machine's network, and the firewalls on the way",
        cause="Nothing answers at the address, as when a firewall drops what is sent.",
        cure="Correct `base_url`, or open the firewall for it.",
        seen_by="test_a_connection_that_is_not_taken",
    ),
    gave_up(
        "… speaks TLS; base_url must begin with https://",
        cause="`base_url` begins with http://, and the port is one for TLS.",
        cure="Write https://.",
        seen_by="test_an_answer_that_does_not_arrive",
    ),
    gave_up(
        "the request to … failed (…); if it goes on, ask the API's support",
        cause="Any other trouble: the answer is no HTTP or cannot be decompressed, the TLS handshake fails. The brackets hold the system's reason.",
        cure="Check `base_url`, and proxies and firewalls on the way; if it stays, report it with the log.",
        seen_by="test_an_answer_that_does_not_arrive",
    ),
    gave_up(
        "… (through the proxy …)",
        cause="The error before it happened on the way through this proxy.",
        cure="See the message; the proxy may be where it comes from.",
        seen_by="test_a_server_beyond_a_proxy",
    ),
)

CLOCKS = (
    warning(
        text="By the server's clock it is …, … behind ours. What is read counts as covered up to the earlier of the two, and the next run reads on from there; set the clock that is wrong",
        cause="The clocks of this machine and of the server differ by more than a minute.",
        cure="Set the one that is wrong; nothing is lost by it, and a little is read again.",
    ),
    warning(
        text="By the server's clock it is …, … ahead of ours. What is read counts as covered up to the earlier of the two, and the next run reads on from there; set the clock that is wrong",
        cause="As before. What is newer than this machine's clock is not read yet.",
        cure="Set the clock that is wrong.",
        seen_by="test_clocks_that_differ_are_worth_one_line",
    ),
    warning(
        text="start_date lies in the future; nothing is read of …",
        cause="`start_date` lies ahead, by a day at most.",
        cure="Nothing needs to be done: it is read from then on.",
        seen_by="test_before_the_start_date_comes_nothing_is_read",
    ),
)

MACHINE = (
    Message(
        text="1 of … streams failed: leads: the system allows no thread to read with; raise its limit of threads",
        cause="The limit of processes or threads is reached (`ulimit -u`, or that of the container).",
        cure="Raise it.",
        seen_by="test_without_a_thread_the_stream_fails",
    ),
    warning(
        text="leads: Only … of … windows are read at once, as the system allows no more threads",
        cause="The limit of processes or threads is nearly reached.",
        cure="Nothing needs to be done; the run is slower. Raise the limit.",
        seen_by="test_too_few_threads_are_worth_a_warning",
    ),
    gave_up(
        "the response is larger than … MiB; lower page_size",
        cause="A page is larger than any page of leads can be.",
        cure="Lower `page_size`; check `base_url`.",
        seen_by="test_a_refusal",
    ),
)

ODDITIES = (
    Message(
        text="1 of … streams failed: leads: page … holds records that cannot be decoded (…); the next run reads it again; if it goes on, ask the API's support",
        cause="A record in the page is not valid JSON.",
        cure=REPORT,
        seen_by="test_a_body_without_the_envelope_is_an_error",
    ),
    Message(
        text="1 of … streams failed: leads: the API returns records from outside the time range of latest_signal; it seems to ignore the range. The stream stops rather than read everything once for each window. Report it to the API's support.",
        cause="The API ignores the time range that it is asked for.",
        cure=REPORT,
        seen_by="test_a_server_that_ignores_latest_signal_is_noticed",
    ),
    warning(
        text="leads: … try 2 of 9 in … s (the server asked for … s, which is shortened)",
        cause="The server's `Retry-After` asks for more than a run can wait.",
        cure="Nothing needs to be done: the tap tries again sooner, and fails if that does not help.",
        seen_by="test_retry_after",
    ),
    warning(
        text="monitored_accounts: No ACTIVATE_VERSION is sent: records in a BATCH have no version, so a target would retire all of them",
        cause="`emit_activate_version_messages` and `batch_config` are both set.",
        cure="Set one of them.",
        seen_by="test_batches_and_versions_together_retire_nothing_that_is_there",
    ),
)

ENDINGS = (
    Message(
        text="the target stopped reading; its own log says why",
        cause="The target has ended, or was ended, while the tap was writing.",
        cure="Read the target's log; the tap goes on from the last state that the target passed on.",
        seen_by="test_a_target_that_stops_reading",
    ),
    Message(
        text="standard output cannot be written: …",
        cause="Messages go into a file, and the disk is full.",
        cure="Make room, and run again.",
        seen_by="test_a_full_disk_behind_stdout_ends_the_run",
    ),
    Message(
        text="Error: standard output is closed; the tap writes its messages there",
        cause="The tap was started with standard output closed (`>&-`).",
        cure="Give it a pipe or a file.",
        seen_by="test_a_closed_stdout_is_told_in_a_line",
    ),
    Message(
        text="Error: … before the run",
        code=143,
        cause="A signal came while the tap was starting.",
        cure="Nothing needs to be done. The exit code is 143 after SIGTERM, 130 after SIGINT.",
        seen_by="test_a_signal_during_the_imports_is_told_in_a_line",
    ),
    Message(
        text="leads: an unexpected error, which is a bug of the tap",
        cause="The tap has a bug. A traceback follows; the other streams are still read.",
        cure="Report it, with the log; the key is not in it.",
        seen_by="test_a_traceback_without_the_key",
    ),
    Message(
        text="… streams failed: …; not tried after that: …; base_url is …",
        cause="The API cannot be reached, or refuses the key. Or no request of the run got a page, and two streams in a row failed in the same way; after the first of them, each stream has one try.",
        cure="See the messages about those that failed, and check `base_url`.",
        seen_by="test_two_streams_that_fail_alike_end_the_run",
    ),
    warning(
        text="leads: … records so far, … a second; … % of …",
        level="INFO",
        cause="The stream is still being read; such a line comes every 15 seconds.",
        cure="Nothing needs to be done.",
        seen_by="test_a_line_comes_every_15_seconds_and_no_sooner",
    ),
    warning(
        text="leads: …; covered up to …, as before",
        level="INFO",
        cause="The run has read nothing that is newer than what was covered.",
        cure="Nothing needs to be done, unless `end_date` or a clock is wrong.",
        seen_by="test_a_bookmark",
    ),
    warning(
        text="leads: …; nothing is covered yet",
        level="INFO",
        cause="No window of the stream has been read whole.",
        cure="Nothing needs to be done: the next run begins again.",
        seen_by="test_a_bookmark",
    ),
)
