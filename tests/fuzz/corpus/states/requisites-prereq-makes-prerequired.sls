a:
  test.nop:
    - prereq:
      - test: b
      - test: c
b: test.nop
c: test.nop
