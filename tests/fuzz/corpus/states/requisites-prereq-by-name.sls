a:
  test.nop:
    - k: 1
    - prereq:
      - test: bee
b:
  test.nop:
    - name: bee
    - j: 2
