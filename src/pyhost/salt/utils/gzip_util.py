"""gzip."""
import gzip
import io

GzipFile = gzip.GzipFile


def open(filename, mode="rb", compresslevel=9):
    """Open a file."""
    return gzip.GzipFile(filename, mode, compresslevel)


def open_fileobj(fileobj, mode="rb", compresslevel=9):
    """Open what is open already."""
    return gzip.GzipFile(None, mode, compresslevel, fileobj)


def compress(data, compresslevel=9):
    """Return data compressed."""
    out = io.BytesIO()
    with open_fileobj(out, "wb", compresslevel) as file:
        file.write(data)
    return out.getvalue()


def uncompress(data):
    """Return data as it was."""
    with open_fileobj(io.BytesIO(data), "rb") as file:
        return file.read()


def compress_file(fh_, compresslevel=9, chunk_size=1048576):
    """Yield an open file, compressed, in pieces."""
    for piece in iter(lambda: fh_.read(chunk_size), b""):
        yield compress(piece, compresslevel)
