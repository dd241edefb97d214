b: test.nop
a: test.nop
c:
  cmd.run: []
d:
  test.nop: [{order: 2}]
