"""Dates."""
import datetime


def date_cast(date):
    """Return a date as datetime: of a datetime, a number of seconds, or a text such as "20201231"."""
    if date is None:
        return datetime.datetime.now()
    if isinstance(date, datetime.datetime):
        return date
    text = date if isinstance(date, str) else None
    if text is not None and text.isdigit() and len(text) != 8:
        date = int(text)
    if isinstance(date, (int, float)):
        return datetime.datetime.fromtimestamp(date)
    for form in "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y%m%d", "%d %b %Y", "%Y/%m/%d":
        try:
            return datetime.datetime.strptime(text or str(date), form)
        except ValueError:
            continue
    raise ValueError(f"Unable to parse {date}")


def strftime(date=None, format="%Y-%m-%d"):
    """Return a date as text."""
    return date_cast(date).strftime(format)


def total_seconds(td):
    """Return the seconds of a timedelta."""
    return (td.microseconds + (td.seconds + td.days * 24 * 3600) * 10**6) / 10**6
