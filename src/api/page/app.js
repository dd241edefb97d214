// app.js - log-in, navigation, shortcuts. A view is a module with name, title, key and show(box, rest): it fills the box
// and returns what ends it; `rest` is what follows its name in the address, "#/jobs/JID".
import * as api from './api.js';
import { closePanel, h, icon, panel } from './ui.js';
import { fleet } from './fleet.js';
import { jobs } from './jobs.js';
import { states } from './states.js';
import { runs } from './runs.js';
import { events } from './events.js';
import { health } from './health.js';

const views = [fleet, jobs, states, runs, events, health];
const app = document.getElementById('app');
let end = null, main = null;

// ---- appearance -----------------------------------------------------------------------------------

const themes = { auto: ['◑', 'as the system'], light: ['○', 'light'], dark: ['●', 'dark'] };
function nextTheme() {
    const names = Object.keys(themes), now = document.documentElement.dataset.chosen;
    localStorage.setItem('halite-theme', names[(names.indexOf(now) + 1) % names.length]);
    dispatchEvent(new Event('halite-theme-chosen'));
}
function themeButton() {
    const button = h('button', { type: 'button', class: 'quiet', id: 'theme', onclick: nextTheme });
    const show = () => {
        const [sign, word] = themes[document.documentElement.dataset.chosen] ?? themes.auto;
        button.textContent = sign;
        button.setAttribute('aria-label', `Appearance: ${word}`);
        button.title = `Appearance: ${word}`;
    };
    addEventListener('halite-theme', show);
    show();
    return button;
}

// ---- log-in ---------------------------------------------------------------------------------------

const logo = () => h('img', { src: new URL('icon.svg', import.meta.url).pathname, alt: '', class: 'logo', width: 32, height: 32 });

function loginView(text) {
    end?.();
    end = null;
    api.stop();
    const said = h('p', { class: 'said', role: 'alert' }, text ?? '');
    const user = h('input', { name: 'username', autocomplete: 'username', required: true, autocapitalize: 'none', spellcheck: 'false' });
    const word = h('input', { name: 'password', type: 'password', autocomplete: 'current-password', required: true });
    const systems = ['pam', 'ldap', 'file', 'rest', 'sharedsecret'];
    const kept = localStorage.getItem('halite-eauth') ?? 'pam';
    const system = h('input', { name: 'eauth', list: 'systems', value: kept, required: true, autocapitalize: 'none', spellcheck: 'false' });
    const button = h('button', { class: 'main' }, 'Log in');
    const form = h('form', { class: 'login', onsubmit: async (event) => {
        event.preventDefault();
        button.disabled = true;
        button.textContent = 'Logging in …';
        said.textContent = '';
        try {
            await api.login(system.value.trim(), user.value, word.value);
            localStorage.setItem('halite-eauth', system.value.trim());
            begin();
        } catch (failure) {
            said.textContent = failure.kind === 'session' ? 'User, password or system is not right, or the user may do nothing here.' : failure.message;
            word.value = '';
            word.focus();
        } finally {
            button.disabled = false;
            button.textContent = 'Log in';
        }
    } },
    h('div', { class: 'brand' }, logo(), h('h1', null, 'Halite')),
    h('p', { class: 'dim' }, 'Fleet, jobs and states of this master. To look at: nothing here changes anything.'),
    h('label', null, 'User', user), h('label', null, 'Password', word),
    h('label', null, 'System of log-ins', system, h('datalist', { id: 'systems' }, systems.map((name) => h('option', { value: name })))),
    button, said);
    document.title = 'Log in · Halite';
    app.replaceChildren(h('div', { class: 'gate' }, form, themeButton()));
    user.focus();
}

async function leave() {
    try {
        await api.logout();
    } catch {
        // The session is forgotten here in any case.
    }
    loginView('You are logged out.');
}

// A request found that the session is over.
export function over() {
    api.session.set(null);
    loginView('Your session has ended. Log in again.');
}
addEventListener('unhandledrejection', (event) => {
    if (event.reason?.kind === 'session') {
        event.preventDefault();
        over();
    }
});

// ---- frame ----------------------------------------------------------------------------------------

function begin() {
    const own = api.session.get();
    const live = h('span', { class: 'live', role: 'status' });
    main = h('main', { id: 'main', tabindex: '-1' });
    const nav = h('nav', { 'aria-label': 'Views' }, views.map((view) => h('a', { href: `#/${view.name}`, 'data-name': view.name, title: `${view.title} (${view.key})` },
        icon(view.name), view.brief ? [h('span', { class: 'long' }, view.title), h('span', { class: 'brief', 'aria-hidden': 'true' }, view.brief)] : h('span', null, view.title))));
    app.replaceChildren(
        h('a', { class: 'skip', href: '#main', onclick: (event) => { event.preventDefault(); main.focus(); } }, 'To the content'),
        h('div', { class: 'frame' },
            h('header', { class: 'side' },
                h('div', { class: 'brand' }, logo(), h('span', { class: 'word' }, 'Halite')), nav,
                h('div', { class: 'foot' }, live,
                    h('div', { class: 'me' }, h('span', { class: 'who', title: 'Logged in' }, own.user),
                        h('span', { class: 'tools' }, themeButton(), h('button', { type: 'button', class: 'quiet', id: 'help', 'aria-label': 'Shortcuts', title: 'Shortcuts (?)', onclick: help }, '?'),
                            h('button', { type: 'button', class: 'quiet', id: 'logout', 'aria-label': 'Log out', title: 'Log out', onclick: leave }, icon('leave')))))),
            main));
    const words = { on: ['● live', 'Events come in as they happen'], off: ['○ not connected', 'No stream of events: views are renewed every half minute'], refused: ['⊘ no events', 'Your rules show no events'] };
    api.onStatus((word) => { live.textContent = words[word][0]; live.title = words[word][1]; live.dataset.word = word; });
    api.listen();
    route();
}

function route() {
    if (!api.session.get()) {
        loginView();
        return;
    }
    const [, name, ...rest] = location.hash.split('/');
    const view = views.find((one) => one.name === name) ?? views[0];
    closePanel();
    end?.();
    document.title = `${view.title} · Halite`;
    for (const link of document.querySelectorAll('nav a'))
        link.toggleAttribute('aria-current', link.dataset.name === view.name);
    const box = h('section', { class: `view ${view.name}`, 'aria-labelledby': 'title' });
    main.replaceChildren(box);
    end = view.show(box, rest.map(decodeURIComponent)) ?? null;
}
addEventListener('hashchange', route);

// ---- keyboard -------------------------------------------------------------------------------------

function help() {
    const keys = [...views.map((view) => [view.key, view.title]), ['/', 'Search in this view'], ['j k ↓ ↑', 'Next and previous row'], ['← →', 'Columns of the matrix, steps of a graph'],
        ['Enter', 'Open the row'], ['Esc', 'Close what is open, leave the search'], ['p', 'Hold the stream of events, or let it go on'], ['t', 'Appearance: as the system, light, dark'], ['?', 'This list']];
    panel('Shortcuts', h('dl', { class: 'pairs keys' }, keys.map(([key, what]) => [h('dt', null, key.split(' ').map((one) => h('kbd', null, one))), h('dd', null, what)])));
}
// A view chosen by its key is there before the next key counts: the browser tells of a hash that is set only after the keys
// that wait, and what the next one opened (the list of shortcuts, say) would be closed again.
function show(view) {
    if (location.hash === `#/${view.name}`)
        return;
    history.pushState(null, '', `#/${view.name}`);
    route();
}
addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
        if (!closePanel() && document.activeElement?.matches('input'))
            document.activeElement.blur();
        return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.('input, select, textarea') || !api.session.get())
        return;
    const view = views.find((one) => one.key === event.key);
    if (view)
        show(view);
    else if (event.key === '?')
        help();
    else if (event.key === 't')
        nextTheme();
    else if (event.key === '/')
        document.querySelector('main .search')?.focus();
    else
        return;
    event.preventDefault();
});

if (api.session.get())
    begin();
else
    loginView();
