base:
  '*':
    - configured
