"""Requests by HTTP."""
import base64
import http.cookiejar
import http.cookies
import json
import logging
import os
import ssl
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

from salt import version
from salt.exceptions import SaltRenderError
from salt.utils import files, stringutils, xmlutil

log = logging.getLogger(__name__)
USERAGENT = f"Salt/{version.__version__}"
_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem")


def get_ca_bundle(opts=None):
    """Return the file of certificates that the options or the system have, or None."""
    named = (opts or {}).get("ca_bundle")
    return named or next((path for path in _BUNDLES if os.path.exists(path)), None)


def sanitize_url(url, hide_fields):
    """Return an address with XXXXXXXXXX for the values of these fields."""
    parts = urllib.parse.urlsplit(url)
    pairs = urllib.parse.parse_qsl(parts.query, keep_blank_values=True)
    if not hide_fields or not pairs:
        return url
    said = "&".join(f"{name}={'XXXXXXXXXX' if name in hide_fields else value}" for name, value in pairs)
    return urllib.parse.urlunsplit(parts._replace(query=said))


def _context(verify_ssl, ca_bundle, cert, opts):
    context = ssl.create_default_context(cafile=ca_bundle or opts.get("ca_bundle"))
    if verify_ssl is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if cert:
        context.load_cert_chain(*([cert] if isinstance(cert, str) else cert[:2]))
    return context


def _rendered(text, renderer, template_dict):
    from salt.utils import templates

    render = templates.TEMPLATE_REGISTRY[renderer or "jinja"]
    done = render(text, from_str=True, to_str=True, **(template_dict or {}))
    if not done["result"]:
        raise SaltRenderError(done["data"])
    return stringutils.to_str(done["data"])


def _headers(header_dict, header_list, header_file, render, renderer, template_dict, agent):
    """Return the headers of all these sources as one dictionary."""
    found = dict(header_dict or {})
    lines = list(header_list or [])
    if header_file:
        with files.fopen(header_file) as text:
            said = text.read()
        lines += (_rendered(said, renderer, template_dict) if render else said).splitlines()
    for line in lines:
        name, sep, value = line.partition(":")
        if sep:
            found[name.strip()] = value.strip()
    if not any(name.lower() == "user-agent" for name in found):
        found["User-agent"] = agent
    return {str(name): str(value) for name, value in found.items()}


def _multipart(data, field, filename):
    """Return (content type, body) of a form with a file."""
    edge = "halite" + stringutils.random(24)
    head = f'--{edge}\r\nContent-Disposition: form-data; name="{field}"' + (f'; filename="{filename}"' if filename else "") + "\r\n\r\n"
    return f"multipart/form-data; boundary={edge}", head.encode() + stringutils.to_bytes(data) + f"\r\n--{edge}--\r\n".encode()


def _decoded(body, decode_type, content_type):
    kind = decode_type
    if kind == "auto":
        kind = "json" if "json" in content_type else "xml" if "xml" in content_type else "plain"
    if kind == "json":
        return json.loads(body)
    if kind == "yaml":
        from salt.utils import yaml

        return yaml.safe_load(body)
    if kind == "xml":
        return xmlutil.to_dict(ElementTree.fromstring(body))
    return stringutils.to_str(body, errors="replace") if kind == "plain" else body


def query(url, method="GET", params=None, data=None, data_file=None, header_dict=None, header_list=None, header_file=None, username=None,
          password=None, auth=None, decode=False, decode_type="auto", status=False, headers=False, text=False, cookies=None, cookie_jar=None,
          cookie_format="lwp", persist_session=False, session_cookie_jar=None, data_render=False, data_renderer=None, header_render=False,
          header_renderer=None, template_dict=None, test=False, test_url=None, node="minion", port=80, opts=None, backend=None,
          ca_bundle=None, verify_ssl=None, cert=None, text_out=None, headers_out=None, decode_out=None, stream=False,
          streaming_callback=None, header_callback=None, handle=False, agent=USERAGENT, hide_fields=None, raise_error=True, formdata=False,
          formdata_fieldname=None, formdata_filename=None, decode_body=True, **kwargs):
    """Ask by HTTP and return {"body", "status", "headers", "dict", "error"}: what was asked for, and the body unless it was decoded."""
    opts = opts or {}
    if test:
        return _test(locals(), test_url)
    if data_file is not None:
        with files.fopen(data_file) as said:
            data = said.read()
        if data_render:
            data = _rendered(data, data_renderer, template_dict)
    if params:
        url += ("&" if "?" in url else "?") + urllib.parse.urlencode(params, doseq=True)
    sent = _headers(header_dict, header_list, header_file, header_render, header_renderer, template_dict, agent)
    if formdata and formdata_fieldname:
        sent["Content-Type"], data = _multipart(data or "", formdata_fieldname, formdata_filename)
    elif isinstance(data, dict):
        data = urllib.parse.urlencode(data)
    log.debug("Requesting URL %s using %s method", sanitize_url(url, hide_fields), method)
    jar = http.cookiejar.LWPCookieJar(cookie_jar) if cookie_jar else http.cookiejar.CookieJar()
    if cookie_jar and os.path.exists(cookie_jar):
        jar.load(ignore_discard=True)
    request = urllib.request.Request(url, None if data is None else stringutils.to_bytes(data), sent, method=method)
    if username is not None or auth:
        user, word = auth or (username, password or "")
        request.add_header("Authorization", "Basic " + base64.b64encode(f"{user}:{word}".encode()).decode())
    handlers = [urllib.request.HTTPSHandler(context=_context(verify_ssl, ca_bundle, cert, opts)), urllib.request.HTTPCookieProcessor(jar)]
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=opts.get("http_request_timeout", 3600)) as answer:
            found = {"handle": answer} if handle else None
            if found is None:
                body = _read(answer, stream, streaming_callback)
                found = _told(answer.status, answer.headers, body, locals(), None)
    except urllib.error.HTTPError as exc:
        found = _told(exc.code, exc.headers, exc.read(), dict(locals(), status=True, headers=True), str(exc))
    except (OSError, ValueError) as exc:
        reason = getattr(exc, "reason", exc)
        return {"error": str(reason)}
    if cookie_jar:
        jar.save(ignore_discard=True)
    return found


def _read(answer, stream, callback):
    if not (stream and callback):
        return answer.read()
    piece = answer.read(65536)
    while piece:
        callback(piece)
        piece = answer.read(65536)
    return b""


def _told(code, said, body, asked, error):
    """Return the dictionary of an answer."""
    found = {} if error is None else {"error": error}
    if asked["status"]:
        found["status"] = code
    if asked["headers"]:
        found["headers"] = dict(said.items())
    for name, value in ("text_out", body), ("headers_out", str(said).encode()):
        if asked[name]:
            with files.fopen(asked[name], "wb") as out:
                out.write(value)
    if asked["decode"] and error is None:
        try:
            found["dict"] = _decoded(body, asked["decode_type"], said.get("Content-Type", ""))
        except (ValueError, ElementTree.ParseError) as exc:
            return dict(found, error=f"the answer can't be decoded: {exc}", body=stringutils.to_str(body, errors="replace"))
        if asked["decode_out"]:
            with files.fopen(asked["decode_out"], "w") as out:
                out.write(json.dumps(found["dict"]))
        if not asked["text"]:
            return found
    charset = said.get_content_charset() or "utf-8"
    found["text" if asked["text"] and asked["decode"] else "body"] = (
        stringutils.to_str(body, (charset, "utf-8"), errors="replace") if asked["decode_body"] else body
    )
    if asked["text"]:
        found["text"] = stringutils.to_str(body, errors="replace")
    return found


def _test(asked, test_url):
    if not test_url:
        return {}
    again = {name: value for name, value in asked.items() if name not in ("test", "test_url", "url", "kwargs")}
    return query(test_url, **again)


def parse_cookie_header(header):
    """Return the cookies of a header Set-Cookie as dictionaries."""
    jar = http.cookies.SimpleCookie()
    jar.load(header)
    return [dict({key: value for key, value in one.items() if value}, name=name, value=one.value) for name, one in jar.items()]


def session(user=None, password=None, verify_ssl=True, ca_bundle=None, headers=None):
    """Return a session of the library requests."""
    try:
        import requests
    except ImportError:
        raise ImportError("the module requests is missing: install the package python3-requests") from None
    new = requests.session()
    new.auth = (user, password or "")
    new.verify = ca_bundle if ca_bundle and verify_ssl else verify_ssl
    new.headers.update(headers or {})
    return new


def update_ca_bundle(target=None, source=None, opts=None, merge_files=None):
    """Replace the file of certificates by one that is fetched, and append others to it."""
    target = target or get_ca_bundle(opts)
    if target is None:
        log.error("Unable to detect location to write CA bundle to")
        return
    source = source or (opts or {}).get("ca_bundle_url", "https://curl.se/ca/cacert.pem")
    body = query(source, text=True, decode=False)
    if "error" in body:
        log.error("%s can't be fetched: %s", source, body["error"])
        return
    more = [merge_files] if isinstance(merge_files, str) else merge_files or []
    for path in more:
        with files.fopen(path) as text:
            body["body"] += "\n" + text.read()
    with files.fopen(target, "w") as out:
        out.write(body["body"])
