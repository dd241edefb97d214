"""Times of the day as jobs of the scheduler name them."""
import time
from datetime import datetime, timedelta


def get_timestamp_at(time_in=None, time_at=None):
    """Return the seconds of a time in so many minutes or hours ("1h30m"), or at a time of the day ("13:30")."""
    if time_in:
        if isinstance(time_in, int):
            hours, minutes = 0, time_in
        else:
            text = time_in.replace("h", ":").replace("m", "")
            hours, minutes = (int(part or 0) for part in (text.split(":") if ":" in text else ("0", text)))
        return time.mktime((datetime.now() + timedelta(hours=hours, minutes=minutes)).timetuple())
    if isinstance(time_at, int):
        return time_at
    clock = datetime.strptime(time_at, "%H:%M:%S" if time_at.count(":") == 2 else "%H:%M")
    now = datetime.now()
    then = now.replace(hour=clock.hour, minute=clock.minute, second=clock.second)
    return time.mktime((then if then >= now else then + timedelta(days=1)).timetuple())


def get_time_at(time_in=None, time_at=None, out_fmt="%Y-%m-%dT%H:%M:%S"):
    """Return the same time as text."""
    return datetime.fromtimestamp(get_timestamp_at(time_in=time_in, time_at=time_at)).strftime(out_fmt)
