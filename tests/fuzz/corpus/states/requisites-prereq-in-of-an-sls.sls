include: [b]
a:
  test.nop:
    - k: 1
    - prereq_in:
      - sls: b
