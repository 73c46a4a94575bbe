vcl 4.1;

backend api {{
    .host = "127.0.0.1";
    .port = "{upstream_port}";
    .first_byte_timeout = 1s;
    .between_bytes_timeout = 1s;
}}

sub vcl_recv {{
    return (pass);
}}
