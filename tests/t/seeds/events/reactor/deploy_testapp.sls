deploy_testapp:
  cmd.state.sls:
    - tgt: {{ data.id }}
    - kwarg:
        mods: apptest
        pillar:
            version: {{ data.data.version }}
