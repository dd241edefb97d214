a:
  test.nop:
    - k: 1
    - prereq:
      - b
b:
  test.nop:
    - j: 2
