include: [b]
a:
  test.nop:
    - k: 1
    - require_in:
      - sls: b
