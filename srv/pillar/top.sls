base:
  '*':
    - common
  'G@role:web':
    - match: compound
    - web
