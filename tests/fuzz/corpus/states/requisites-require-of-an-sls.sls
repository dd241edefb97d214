include: [b]
a:
  test.nop:
    - k: 1
    - require:
      - sls: b
