base:
  'role:w.b':
    - match: grain_pcre
    - one
  'm[0-9]\.':
    - match: pcre
    - two
  'm1.example.com,m2':
    - match: list
    - web.a
  'web':
    - match: nodegroup
    - web.b
