// theme.js - dark or light before the first paint: as the user has chosen, else as the system wants.
(() => {
    'use strict';
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const apply = () => {
        const chosen = localStorage.getItem('halite-theme') || 'auto';
        const theme = chosen === 'auto' ? (dark.matches ? 'dark' : 'light') : chosen;
        document.documentElement.dataset.theme = theme;
        document.documentElement.dataset.chosen = chosen;
        dispatchEvent(new Event('halite-theme'));
    };
    dark.addEventListener('change', apply);
    addEventListener('halite-theme-chosen', apply);
    apply();
})();
